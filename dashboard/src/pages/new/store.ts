import { effect, signal } from '@preact/signals';
import { emptyDraft, type Draft } from './draft.js';

const stored = 'ratchet.new-run';

/** The draft of this tab; a reload keeps it. */
export const draft = signal<Draft>(readStored());

/** What the last replacement of the whole draft took away; null: nothing. */
export const replaced = signal<Draft | null>(null);

effect(() => sessionStorage.setItem(stored, JSON.stringify(draft.value)));

/** The limits of the form. */
export type TextField = 'rollouts' | 'dollars' | 'minutes' | 'containerUrl' | 'envName' | 'seeds';

export function change(changes: Partial<Draft>): void {
  draft.value = { ...draft.value, ...changes };
}

/** Puts another draft in place of all fields; `undo` brings them back. */
export function replace(next: Draft): void {
  const isEmpty = JSON.stringify(draft.value) === JSON.stringify(emptyDraft);
  replaced.value = isEmpty ? null : draft.value;
  draft.value = next;
}

export function undo(): void {
  if (replaced.value) draft.value = replaced.value;
  replaced.value = null;
}

function readStored(): Draft {
  const text = sessionStorage.getItem(stored);
  return text === null ? emptyDraft : { ...emptyDraft, ...(JSON.parse(text) as Partial<Draft>) };
}
