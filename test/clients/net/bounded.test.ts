import { describe, expect, test } from '@jest/globals';
import { TimeoutError, withTimeout, type PausableTimer } from '../../../src/clients/net/bounded.js';

const never = new AbortController().signal;
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('let go'))));
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a clock that can be held', () => {
  test('goes on where nobody holds it', async () => {
    await expect(withTimeout(20, never, aborted)).rejects.toThrow(TimeoutError);
  });

  test('pauses until the last hold ends and keeps the remaining time', async () => {
    const events: string[] = [];
    const work = async (signal: AbortSignal, clock: PausableTimer) => {
      const [one, other] = [clock.hold(), clock.hold()];
      await later(60);
      one();
      one();
      await later(60);
      events.push(`held: ${signal.aborted}`);
      other();
      return aborted(signal);
    };
    await expect(withTimeout(20, never, work)).rejects.toThrow(TimeoutError);
    expect(events).toEqual(['held: false']);
  });

  test('rejects with the abort reason, held or not, and leaves no timer', async () => {
    const parent = new AbortController();
    const work = withTimeout(20, parent.signal, (signal, clock) => (clock.hold(), aborted(signal)));
    parent.abort(new Error('stopped'));
    await expect(work).rejects.toThrow('stopped');
    let hold = (): (() => void) => () => undefined;
    expect(await withTimeout(20, never, (_, clock) => ((hold = () => clock.hold()), Promise.resolve('done')))).toBe(
      'done',
    );
    hold()();
  });
});
