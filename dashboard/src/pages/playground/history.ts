import { signal } from '@preact/signals';

const stored = 'ratchet.playground';
const kept = 50;

/** The inputs of this tab, newest first. */
export const history = signal<string[]>(JSON.parse(sessionStorage.getItem(stored) ?? '[]') as string[]);

export function remember(input: string): void {
  history.value = [input, ...history.value.filter((each) => each !== input)].slice(0, kept);
  sessionStorage.setItem(stored, JSON.stringify(history.value));
}
