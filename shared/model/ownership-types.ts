/** The kinds of ownership whose name here was not DataHub's. */

/** `CUSTOM` for the name that the schema had before: DataHub's clients cannot read an aspect that contains it. */
export const ownershipTypeOf = <Type extends string | null>(type: Type): Type | 'CUSTOM' =>
  type === 'CUSTOM_OWNERSHIP_TYPE' ? 'CUSTOM' : type
