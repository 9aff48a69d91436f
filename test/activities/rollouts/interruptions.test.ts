import { expect, test } from '@jest/globals';
import { ActivityCancellationDetails } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { Interruptions } from '../../../activities/rollouts/interruptions.js';

// Invariant: no news of a job's control is lost between the first claims and the runner's start.

const job = { orgId: 'default', jobId: 'evl_1' };

function interruptible() {
  const wakers = new Map<string, () => void>();
  const draining = new AbortController();
  const notifications = {
    on: (channel: string, id: string, wake: () => void) => {
      wakers.set(`${channel} ${id}`, wake);
      return () => wakers.delete(`${channel} ${id}`);
    },
  };
  const environment = new MockActivityEnvironment();
  const within = (work: (interruptions: Interruptions) => void | Promise<void>) =>
    environment.run(async () => {
      const interruptions = new Interruptions({ notifications, draining: draining.signal }, job, 0);
      try {
        await work(interruptions);
      } finally {
        interruptions.close();
      }
    });
  return { wakers, draining, environment, within, arrive: () => wakers.get('ratchet_control evl_1')!() };
}

/** A listener that counts its notifications. */
function counting() {
  const heard = { news: 0, stops: 0 };
  return { heard, onNews: () => void (heard.news += 1), onStop: () => void (heard.stops += 1) };
}

test('delivers news that came before the listener, and later news until its end', async () => {
  const { within, arrive } = interruptible();
  await within((interruptions) => {
    const listener = counting();
    expect(interruptions.hasNews).toBe(false);
    arrive();
    arrive();
    const end = interruptions.listen(listener);
    expect([interruptions.hasNews, listener.heard.news]).toEqual([true, 1]);
    arrive();
    expect(listener.heard.news).toBe(2);
    end();
    arrive();
    expect(listener.heard.news).toBe(2);
  });
});

test('delivers nothing without news, and stops listening', async () => {
  const { within, wakers } = interruptible();
  const listener = counting();
  await within((interruptions) => void interruptions.listen(listener));
  expect(listener.heard).toEqual({ news: 0, stops: 0 });
  expect(wakers.size).toBe(0);
});

test('a shutdown of the worker stops new work and makes nothing obsolete', async () => {
  const { within, draining } = interruptible();
  await within((interruptions) => {
    const listener = counting();
    interruptions.listen(listener);
    expect(interruptions.isStopped).toBe(false);
    draining.abort();
    expect([listener.heard.stops, interruptions.isStopped, interruptions.obsolete.aborted]).toEqual([1, true, false]);
  });
});

test.each([
  ['the workflow asks for the results so far', true, false],
  ['the attempt no longer counts', false, true],
])('%s: work stops', async (_, cancelRequested, isObsolete) => {
  const { within, environment } = interruptible();
  await within(async (interruptions) => {
    const stopped = new Promise<void>((resolve) => interruptions.listen({ onNews: () => undefined, onStop: resolve }));
    environment.cancel('CANCELLED', new ActivityCancellationDetails({ cancelRequested, notFound: isObsolete }));
    await stopped;
    expect([interruptions.isStopped, interruptions.obsolete.aborted]).toEqual([true, isObsolete]);
  });
});
