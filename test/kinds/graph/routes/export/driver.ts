/** run.py in a process of its own, for many cases one after the other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Graph } from '../../../../../src/core/graphs/graph.js';
import { graphToJson } from '../../../../../src/core/graphs/json.js';

export const program = resolve(__dirname, '../../../../../src/kinds/graph/routes/export/run.py');

interface PythonCall {
  step: string;
  model: string | null;
  timeoutS: number;
  tries: number;
  messages: { role: string; content: string }[];
  tried: number;
}

/** `value`: as JSON. */
type PythonOutcome = { value: string } | { failed: { step: string | null; reason: string } };

export interface Driver {
  /** A run with these answers by call key; the last answer repeats; null: no answer. */
  run(
    graph: Graph,
    input: string,
    answers: Readonly<Record<string, readonly (string | null)[]>>,
    otherwise?: string,
  ): Promise<PythonOutcome & { calls: Record<string, PythonCall> }>;
  /** A run with calls by the openai package. */
  overHttp(graph: Graph, input: string, url: string): Promise<PythonOutcome>;
  /** Characters with a different case or white space in Python, with both versions. */
  wrongCharacters(
    changed: Readonly<Record<string, [lower: string, upper: string]>>,
    white: string,
  ): Promise<[char: string, told: string[], own: string[]][]>;
  readings(texts: readonly string[]): Promise<TextReadings[]>;
  /** Whether refusals with these statuses and this `x-should-retry` may pass. */
  mayPass(statuses: readonly number[], advice: string | null): Promise<boolean[]>;
  /** The text of a message's content. */
  contentText(content: unknown): Promise<string>;
  close(): Promise<void>;
}

/** The answer of a text, its last JSON value and object, and its numbers, as JSON. */
export interface TextReadings {
  answer: string;
  json: string | null;
  object: string | null;
  numbers: string;
  number: string;
}

export function startDriver(python: string): Driver {
  const env = { ...process.env, OPENAI_API_KEY: 'key', NO_PROXY: '127.0.0.1' };
  const child = spawn(python, [join(__dirname, 'driver.py'), program], { stdio: ['pipe', 'pipe', 'inherit'], env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const graphText = (graph: Graph) => JSON.stringify(graphToJson(graph));
  async function ask<Answer>(asked: Record<string, unknown>): Promise<Answer> {
    child.stdin.write(`${JSON.stringify(asked)}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error('the driver has ended');
    const answer = JSON.parse(value) as Answer & { crashed?: string };
    if (answer.crashed !== undefined) throw new Error(`run.py crashed: ${answer.crashed}`);
    return answer;
  }
  return {
    run: (graph, input, answers, otherwise = 'ok') =>
      ask({ kind: 'run', graph: graphText(graph), input, answers, otherwise }),
    overHttp: (graph, input, url) => ask({ kind: 'http', graph: graphText(graph), input, url }),
    wrongCharacters: (changed, white) => ask({ kind: 'characters', changed, white }),
    readings: (texts) => ask({ kind: 'texts', texts }),
    mayPass: (statuses, advice) => ask({ kind: 'passing', statuses, advice }),
    contentText: (content) => ask({ kind: 'content', content }),
    async close() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
