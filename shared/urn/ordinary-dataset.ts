/** Tells the URNs of ordinary datasets at a glance: what is in nearly every line of a load, at a tenth of the time that remembering them took (0.16 us against 1.5: a map of 100,000 texts is out of every cache). */
import { fabricTypes } from './kind-shapes.ts'
import type { Urn } from './urn.ts'

/** Names without parentheses, commas, quotes, escapes or anything beyond ASCII: all that parseUrn would look at is looked at here. */
const ordinary = new RegExp(`^urn:li:dataset:\\(urn:li:dataPlatform:[\\w.-]{1,100},[\\w.\\-/:$#@+= ]{1,700},(?:${fabricTypes.join('|')})\\)$`)

/** True says that parseUrn takes the text and calls it a dataset; false says nothing. */
export const isOrdinaryDataset = (text: string): text is Urn => ordinary.test(text)
