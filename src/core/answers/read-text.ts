/** A text that was found in a model's answer, or why there is none, in words for the model. */
export type ReadText = { ok: true; text: string } | { ok: false; reason: string };

export function refuse(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}
