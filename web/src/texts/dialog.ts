/** Words of dialogs. */
export const dialogTexts = {
  cancel: 'Cancel',
  close: 'Close'
}
