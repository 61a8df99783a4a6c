/** Buttons and fields as every page has them: what they say, what they hold, and what follows. */
import type { ComponentChildren, JSX } from 'preact'

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'type' | 'onClick' | 'children'> & {
  run: () => unknown
  children: ComponentChildren
}

/** Does something here; a button that sends a form has the type `submit`. */
export const Button = ({ run, ...rest }: ButtonProps) => (
  <button {...rest} type="button" onClick={() => void run()} />
)

type Field<Value> = { label: string; value: Value; change: (value: Value) => void }

export const FilterField = ({ label, value, change, ...rest }: Field<string> & { class?: string }) => (
  <input
    {...rest}
    type="search"
    aria-label={label}
    placeholder={label}
    value={value}
    onInput={({ currentTarget }) => change(currentTarget.value)}
  />
)

export const Check = ({
  label,
  value,
  change,
  ...rest
}: Field<boolean> & { role?: 'switch'; 'data-testid'?: string }) => (
  <label class="row">
    <input
      {...rest}
      type="checkbox"
      checked={value}
      onChange={({ currentTarget }) => change(currentTarget.checked)}
    />
    {label}
  </label>
)

/** `options`: each value with its name. */
export const Select = ({
  label,
  value,
  change,
  options,
  ...rest
}: Field<string> & { options: readonly (readonly [string, string])[]; 'data-testid'?: string }) => (
  <select
    {...rest}
    aria-label={label}
    value={value}
    onChange={({ currentTarget }) => change(currentTarget.value)}
  >
    {options.map(([each, name]) => (
      <option key={each} value={each}>
        {name}
      </option>
    ))}
  </select>
)
