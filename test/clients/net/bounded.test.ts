import { describe, expect, test } from '@jest/globals';
import { TimeoutError, withTimeout, type PausableTimer } from '../../../src/clients/net/bounded.js';

const never = new AbortController().signal;
const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('let go'))));
const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a timer with holds', () => {
  test('runs without holds', async () => {
    await expect(withTimeout(20, never, aborted)).rejects.toThrow(TimeoutError);
  });

  test('pauses until the last hold ends and keeps the remaining time', async () => {
    const events: string[] = [];
    const work = async (signal: AbortSignal, clock: PausableTimer) => {
      const [first, second] = [clock.hold(), clock.hold()];
      await later(60);
      first();
      first();
      await later(60);
      events.push(`held: ${signal.aborted}`);
      second();
      return aborted(signal);
    };
    await expect(withTimeout(20, never, work)).rejects.toThrow(TimeoutError);
    expect(events).toEqual(['held: false']);
  });

  test('rejects with the abort reason, with or without holds, and leaves no timer', async () => {
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
