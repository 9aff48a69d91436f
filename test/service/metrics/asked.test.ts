import { expect, test } from '@jest/globals';
import { EventEmitter } from 'node:events';
import { metricsOf, metricsQuestion } from '../../../src/service/metrics/asked.js';
import type { MetricValues } from '../../../src/service/metrics/values.js';

class Child extends EventEmitter {
  readonly questions: string[] = [];
  isGone = false;

  send(message: string, sent: (error: Error | null) => void): boolean {
    this.questions.push(message);
    sent(this.isGone ? new Error('channel closed') : null);
    return true;
  }
}

const values = [{ name: 'one' }] as MetricValues;

test('a child that hangs gets one question, and holds one listener, however often it is asked', async () => {
  const child = new Child();
  const ask = metricsOf(child);
  expect(await Promise.all(Array.from({ length: 20 }, ask))).toEqual(Array.from({ length: 20 }, () => []));
  expect(child.questions).toEqual([metricsQuestion]);
  expect([child.listenerCount('message'), child.listenerCount('exit')]).toEqual([1, 1]);
  // What it says when it goes on answers the next scrape too late; the one after that is answered.
  child.emit('message', { metrics: values });
  const answered = ask();
  child.emit('message', { metrics: values });
  expect(await answered).toBe(values);
});

test('other messages are no answer, and an ended child has no metrics', async () => {
  const child = new Child();
  const ask = metricsOf(child);
  const answered = ask();
  child.emit('message', { ready: true });
  child.emit('message', { metrics: values });
  expect(await answered).toBe(values);
  const lost = ask();
  child.emit('exit');
  expect(await lost).toEqual([]);
  child.isGone = true;
  expect(await ask()).toEqual([]);
});
