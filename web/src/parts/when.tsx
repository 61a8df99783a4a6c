/** A time in readable form; the exact time is in its title. */
export const whenText = (millis: number): string =>
  new Date(millis).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

export const When = ({ millis }: { millis: number }) => {
  const exact = new Date(millis).toISOString()
  return (
    <time dateTime={exact} title={exact}>
      {whenText(millis)}
    </time>
  )
}
