// cronce loads the programs of its targets from its own folder, so it is not bundled.
// biome-ignore lint/style/noDefaultExport: Next.js reads the default export
export default { serverExternalPackages: ['cronce'] }
