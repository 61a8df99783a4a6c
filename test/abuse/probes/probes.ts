/** All probes, in the order in which they are sent. */
import type { Probe } from '../probe.ts'
import { authentication } from './authentication.ts'
import { graphql } from './graphql.ts'
import { objects } from './objects.ts'
import { properties } from './properties.ts'
import { rights } from './rights.ts'
import { transport } from './transport.ts'
import { values } from './values.ts'

export const probes: readonly Probe[] = [
  ...authentication,
  ...rights,
  ...objects,
  ...properties,
  ...transport,
  ...graphql,
  ...values
]
