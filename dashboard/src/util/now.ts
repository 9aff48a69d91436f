/** How long ago, told anew while the page is in view. */
import { computed, signal } from '@preact/signals';
import { ago } from './format.js';

const stepMs = 2_000;
const steps = signal(0);
setInterval(() => {
  if (!document.hidden) steps.value += 1;
}, stepMs);
const slowSteps = computed(() => Math.floor(steps.value / 15));

/** `12 s ago`; who renders it renders again as it grows older. */
export function agoNow(at: string): string {
  const now = Date.now();
  void (now - Date.parse(at) < 60_000 ? steps : slowSteps).value;
  return ago(at, now);
}
