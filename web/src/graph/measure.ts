/** Has the widths of letters measured by the browser. */
import { measureWith } from './labels.ts'

const canvas = document.createElement('canvas').getContext('2d')
if (canvas)
  measureWith((letter, weight) => {
    canvas.font = `${weight} 100px ${getComputedStyle(document.body).fontFamily}`
    return canvas.measureText(letter).width / 100
  })
