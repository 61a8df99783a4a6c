/** The copy buttons of each page: its link, its GraphQL query, and the command with the same answer. */
import { CopyButton } from './copy-button.tsx'
import { printGraphql, type GraphqlQuestion } from '../command-line.ts'
import { texts } from '../texts.ts'

export const CopyAs = ({ graphql, command }: { graphql: GraphqlQuestion; command: string }) => (
  <div class="row copy-as" role="group" aria-label={texts.copy.page}>
    {/** The address is read when the button is pressed, because it changes without a new render. */}
    <CopyButton text={() => location.href} label={texts.copy.link} />
    <CopyButton text={() => printGraphql(graphql)} label={texts.copy.graphql} />
    <CopyButton
      text={command}
      label={texts.copy.cli}
      done={command.startsWith('tributary ') ? `${texts.copy.done} ${texts.copy.where}` : texts.copy.done}
    />
  </div>
)
