/**
 * The date of every entry of a ZIP that the service makes: the first that there is, so that equal contents are equal bytes. In UTC, as
 * entries are written.
 */
export const entryDate = new Date(Date.UTC(1980, 0, 1));
