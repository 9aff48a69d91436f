import { setTimeout as delay } from 'node:timers/promises';
import type { MetricValues } from './values.js';

/** By which a parent asks a process for its metrics. */
export const metricsQuestion = 'metrics';

export interface MetricsAnswer {
  metrics: MetricValues;
}

/** A child of `node:child_process` or of `node:cluster`. */
interface Child {
  send(message: string, sent: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  once(event: 'exit', listener: () => void): unknown;
}

/** A scrape waits no longer for a process, so that one that hangs does not hide the others. */
const patienceMs = 2_000;

/**
 * How to ask a child for its metrics: none where it has ended, or does not answer in time. Holds
 * one listener, and has at most one question on the way.
 */
export function metricsOf(child: Child): () => Promise<MetricValues> {
  let asked: { answer: Promise<MetricValues>; settle(metrics: MetricValues): void } | null = null;
  const settle = (metrics: MetricValues) => {
    asked?.settle(metrics);
    asked = null;
  };
  child.on('message', (message) => {
    if (isAnswer(message)) settle(message.metrics);
  });
  child.once('exit', () => settle([]));
  const ask = () => {
    let settleAnswer!: (metrics: MetricValues) => void;
    const answer = new Promise<MetricValues>((resolve) => (settleAnswer = resolve));
    asked = { answer, settle: settleAnswer };
    child.send(metricsQuestion, (error) => {
      if (error) settle([]);
    });
    return answer;
  };
  return () => Promise.race([asked?.answer ?? ask(), delay(patienceMs, [], { ref: false })]);
}

function isAnswer(message: unknown): message is MetricsAnswer {
  return typeof message === 'object' && message !== null && 'metrics' in message;
}
