/** A button that shows what is folded on a narrow screen; on a wide one there is no button, and nothing is folded. */
import { Button } from './fields.tsx'

export const FoldButton = ({
  label,
  isOpen,
  setOpen
}: {
  label: string
  isOpen: boolean
  setOpen: (isOpen: boolean) => void
}) => (
  <Button class="filters-button" aria-expanded={isOpen} run={() => setOpen(!isOpen)}>
    {label}
  </Button>
)
