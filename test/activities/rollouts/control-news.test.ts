import { expect, test } from '@jest/globals';
import { ControlNews } from '../../../activities/rollouts/control-news.js';

// Invariant: no news of a job's control is lost between the first claims and the runner's start.

const job = { orgId: 'default', jobId: 'evl_1' };

function listened() {
  const wakers = new Map<string, () => void>();
  const news = new ControlNews(
    {
      on: (channel, id, wake) => {
        wakers.set(`${channel} ${id}`, wake);
        return () => wakers.delete(`${channel} ${id}`);
      },
    },
    job,
  );
  return { news, wakers, arrive: () => wakers.get('ratchet_control evl_1')!() };
}

test('delivers news that came before the listener, and later news', () => {
  const { news, arrive } = listened();
  let taken = 0;
  arrive();
  arrive();
  news.listen(() => (taken += 1));
  expect(taken).toBe(1);
  arrive();
  expect(taken).toBe(2);
});

test('delivers nothing without news, and stops', () => {
  const { news, wakers } = listened();
  let taken = 0;
  news.listen(() => (taken += 1));
  expect(taken).toBe(0);
  news.close();
  expect(wakers.size).toBe(0);
});
