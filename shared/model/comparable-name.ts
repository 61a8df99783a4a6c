/** Which names look the same to a reader, so that only one of the domains in one place may have it. */

/**
 * The form in which names are compared: composed (NFC), one space for any white space, and without characters
 * that are not shown.
 */
export const comparableName = (name: string): string =>
  name
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .normalize('NFC')
    .replaceAll(/\s+/g, ' ')
    .trim()
