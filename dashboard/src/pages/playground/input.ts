/** The input of a deployment: a message, or the fields of a graph. */
import type { Answer } from '../../../../src/client/index.js';

type Snapshot = Answer<'getSnapshot'>;

/** The fields that a graph takes; empty: a message. */
export function fieldsOf(snapshot: Snapshot | undefined): string[] {
  return snapshot?.kind === 'graph' ? snapshot.graph.inputs : [];
}

/** The text that is sent: one value as it is, several as JSON. */
export function inputText(fields: string[], values: Record<string, string>): string {
  if (fields.length === 0) return values['Message'] ?? '';
  return JSON.stringify(Object.fromEntries(fields.map((name) => [name, values[name] ?? ''])));
}

/** The fields of a text that was sent. */
export function valuesOf(fields: string[], text: string): Record<string, string> {
  if (fields.length === 0) return { Message: text };
  const parsed = jsonObject(text);
  return parsed ?? { [fields[0]!]: text };
}

function jsonObject(text: string): Record<string, string> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, string>) : null;
  } catch (error) {
    // A message that was typed for another deployment.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
