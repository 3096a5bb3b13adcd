import fc from 'fast-check'

/** Any code point, half of them of ASCII. The library's own `binary` first makes a table of all of Unicode, which takes a second. */
const character = fc
  .oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0x10_ffff }))
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))

export function anyText(maxLength?: number): fc.Arbitrary<string> {
  return fc.array(character, maxLength === undefined ? {} : { maxLength }).map((characters) => characters.join(''))
}
