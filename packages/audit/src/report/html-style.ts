/** Colors, fonts and cards of the dashboard (`packages/dashboard/ui/style`); a test compares the colors. */
export const STYLE = `
:root { color-scheme: light; --background: #fbfbfc; --card: #ffffff; --foreground: #1c2230; --muted: #eff1f5;
  --muted-foreground: #5b6474; --border: #dde1e8; --primary: #3f51c7; --primary-soft: #eceefb; --failed: #c22f2f; --missed: #9c5208;
  --skipped: #5f6878; --radius: 6px;
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace; }
@media (prefers-color-scheme: dark) { :root { color-scheme: dark; --background: #12151c; --card: #191d26; --foreground: #e4e7ee;
  --muted: #232835; --muted-foreground: #9aa4b6; --border: #2d3442; --primary: #93a0fb; --primary-soft: #252b48; --failed: #f2726f;
  --missed: #f0a04b; --skipped: #8f99ab; } }
*, *::before, *::after { box-sizing: border-box; }
body { margin: 0; background: var(--background); color: var(--foreground); font: 14px / 1.45 var(--font); }
main { max-width: 1080px; margin: 0 auto; padding: 20px 16px; }
h1 { margin: 0 0 12px; font-size: 20px; font-weight: 650; letter-spacing: -0.01em; }
h2 { margin: 0; font-size: 13px; font-weight: 650; }
p { margin: 0 0 8px; overflow-wrap: anywhere; }
a { color: var(--primary); text-decoration: none; }
a:hover { text-decoration: underline; }
code, pre { font-family: var(--mono); font-size: 12px; overflow-wrap: anywhere; }
pre { margin: 8px 0; padding: 8px 10px; overflow: auto; border-radius: var(--radius); background: var(--muted); }
mark { background: var(--primary-soft); color: inherit; }
.is-error { --tone: var(--failed); }
.is-warning { --tone: var(--missed); }
.is-info { --tone: var(--skipped); }
b[class^="is-"] { color: var(--tone); }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); gap: 12px; margin-bottom: 14px; }
.figure { display: grid; padding: 10px 14px; border: 1px solid var(--border); border-radius: 8px; background: var(--card); }
.figure .value { font-size: 24px; font-weight: 650; font-variant-numeric: tabular-nums; letter-spacing: -0.02em;
  color: var(--tone, var(--foreground)); }
.figure .title { font-size: 12px; color: var(--muted-foreground); }
.card { margin: 0 0 14px; padding: 12px 14px; border: 1px solid var(--border); border-radius: 8px; background: var(--card); min-width: 0; }
.card > header { margin-bottom: 8px; }
.rule { border-top: 1px solid var(--border); padding: 8px 0; }
.rule summary { cursor: pointer; margin-bottom: 6px; }
.count { color: var(--muted-foreground); font-variant-numeric: tabular-nums; }
.fix { color: var(--muted-foreground); }
article { margin: 8px 0 12px; }
.lines { margin: 0; padding: 0; list-style: none; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-size: 12px; font-weight: 600; color: var(--muted-foreground); }
th, td { padding: 5px 12px 5px 0; border-top: 1px solid var(--border); vertical-align: top; }
footer { color: var(--muted-foreground); font-size: 12px; }
`
