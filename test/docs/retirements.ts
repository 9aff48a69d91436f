/**
 * Models of examples of which the vendors' pages named no end on this day. Those with an end are in
 * `src/core/retirements/table.ts`.
 */
export const asOf = '2026-11-27';

export const withoutEnd = ['openai/gpt-6-luna', 'openai/gpt-6-sol', 'google/gemini-3.5-flash-lite'];
