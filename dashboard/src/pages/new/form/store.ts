import { effect, signal } from '@preact/signals';
import { remember } from '../../../util/remember.js';
import { emptyDraft, type Draft } from './draft.js';

const stored = 'ratchet.new-run';

/** The draft of this tab; a reload keeps it. */
export const draft = signal<Draft>(readStored());

effect(() => remember(stored, draft.value));

/** The limits of the form. */
export type TextField = 'rollouts' | 'dollars' | 'minutes' | 'containerUrl' | 'envName' | 'seeds';

export function change(changes: Partial<Draft>): void {
  draft.value = { ...draft.value, ...changes };
}

function readStored(): Draft {
  const text = sessionStorage.getItem(stored);
  return text === null ? emptyDraft : { ...emptyDraft, ...(JSON.parse(text) as Partial<Draft>) };
}
