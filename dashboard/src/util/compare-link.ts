import { link } from './router.js';

/** As many columns are compared at once. */
export const mostColumns = 8;

/** The comparison of these; the first is the baseline. */
export const compareLink = (...ids: readonly string[]): string => link(['compare'], { ids: ids.join() });
