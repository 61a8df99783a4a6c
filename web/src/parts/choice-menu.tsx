/** A filter with several possible values: a button with their number, and below it a list of check boxes. */
import { Menu } from './menu.tsx'

export type Option = { value: string; name: string }

export function ChoiceMenu({
  label,
  options,
  chosen,
  choose
}: {
  label: string
  options: readonly Option[]
  chosen: readonly string[]
  choose: (values: readonly string[]) => void
}) {
  // Values in the address stay in the list, so that they can be unchosen even if nothing has them any more.
  const gone = chosen.filter((value) => !options.some((option) => option.value === value))
  const all = [...options, ...gone.map((value) => ({ value, name: value }))]
  return (
    <Menu label={label} title={chosen.length > 0 ? `${label} (${chosen.length})` : label}>
      {() =>
        all.map(({ value, name }) => (
          <label key={value} class="row">
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={() => {
                choose(chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value])
              }}
            />
            <span>{name}</span>
          </label>
        ))
      }
    </Menu>
  )
}
