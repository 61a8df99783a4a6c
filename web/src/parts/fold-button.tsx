/** A button that shows what is folded on a narrow screen; on a wide one there is no button, and nothing is folded. */
export const FoldButton = ({
  label,
  isOpen,
  setOpen
}: {
  label: string
  isOpen: boolean
  setOpen: (isOpen: boolean) => void
}) => (
  <button
    type="button"
    class="filters-button"
    aria-expanded={isOpen}
    onClick={() => {
      setOpen(!isOpen)
    }}
  >
    {label}
  </button>
)
