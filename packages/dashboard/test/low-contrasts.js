/** Runs in the page: texts whose color is too near to that of the ground below them. */
;(() => {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
  const read = (color) => {
    context.clearRect(0, 0, 1, 1)
    context.fillStyle = color
    context.fillRect(0, 0, 1, 1)
    return [...context.getImageData(0, 0, 1, 1).data]
  }
  const linear = (byte) => (byte / 255 <= 0.04045 ? byte / 255 / 12.92 : ((byte / 255 + 0.055) / 1.055) ** 2.4)
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
  const groundOf = (element) => {
    if (element === null) return [255, 255, 255]
    const ground = read(getComputedStyle(element).backgroundColor)
    return ground[3] === 255 ? ground : groundOf(element.parentElement)
  }
  const hasText = ({ childNodes }) =>
    [...childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '')
  const isShown = (one) =>
    one.getClientRects().length > 0 &&
    getComputedStyle(one).opacity !== '0' &&
    one.closest('.hidden, .skip, :disabled, svg') === null
  return [...document.querySelectorAll('body *')]
    .filter((one) => hasText(one) && isShown(one))
    .flatMap((one) => {
      const [text, ground] = [light(read(getComputedStyle(one).color)), light(groundOf(one))]
      const contrast = (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)
      return contrast < 4.5
        ? [`${one.tagName} ${one.className} "${one.textContent.slice(0, 30)}" ${contrast.toFixed(2)}`]
        : []
    })
})()
