/** The result of a tool: JSON as text, which every client shows to its model. */
export function answer(value: object) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(value) }] };
}

/** Marks of tools that change nothing. */
export const reads = { readOnlyHint: true };
