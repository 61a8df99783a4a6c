/** The default theme with the reader's own fonts, the colours of the web UI, and a picture of it on the first page. */
import DefaultTheme from 'vitepress/theme-without-fonts'
import { useRoute } from 'vitepress'
import { h, nextTick, onMounted, watch } from 'vue'
import dark from '../../../docs/images/impact-dark.png'
import light from '../../../docs/images/impact-light.png'
import './style.css'

const alt = 'The web UI: the assets downstream of a table, with the domains and owners that a change affects'

/** Both are on the page; the style shows the one of the theme, without the bar of the page and the row that is cut. */
const picture = () => [
  h('img', { class: 'VPImage hero-shot only-light', src: light, alt, width: 1280, height: 800 }),
  h('img', { class: 'VPImage hero-shot only-dark', src: dark, alt, width: 1280, height: 800 })
]

export default {
  extends: DefaultTheme,
  setup() {
    const route = useRoute()
    // The theme has a main landmark on every page except the first.
    const markMain = () => nextTick(() => document.querySelector('.VPHome')?.setAttribute('role', 'main'))
    onMounted(markMain)
    watch(() => route.path, markMain)
  },
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-image': picture })
}
