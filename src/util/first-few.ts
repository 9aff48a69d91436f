/** The first `most` of a list, separated by commas, with an ellipsis for the others. */
export function firstFew(items: readonly (string | number)[], most: number): string {
  return items.slice(0, most).join(', ') + (items.length > most ? ', …' : '');
}
