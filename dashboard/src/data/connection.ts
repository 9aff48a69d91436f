/** Whether the service answers, as all requests of the page see it. */
import { signal } from '@preact/signals';
import { RatchetError } from '../../../src/client/index.js';

/** When the last answer came, and since when none comes; milliseconds since 1970. */
export const answeredAt = signal(Date.now());
export const silentSince = signal<number | null>(null);

export function noteAnswer(): void {
  answeredAt.value = Date.now();
  silentSince.value = null;
}

/** A request that its page has ended says nothing. */
export function noteSilence(signal: AbortSignal | null | undefined): void {
  if (!signal?.aborted) silentSince.value ??= Date.now();
}

/** Whether a request failed because no answer came. */
export const isSilence = (error: unknown): boolean => error instanceof RatchetError && error.status === null;
