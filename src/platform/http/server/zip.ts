/** Date of all ZIP entries: the earliest one, so that equal contents give equal bytes. */
export const entryDate = new Date(Date.UTC(1980, 0, 1));
