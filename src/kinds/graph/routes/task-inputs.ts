import { taskInput, type TaskedDataset } from '../contract/dataset.js';
import type { Graph } from '../../../core/graphs/graph.js';
import { openRun, outcomeOf } from '../../../core/graphs/run/run.js';
import { sizeProblem, type Json } from '../../../core/graphs/values.js';
import { listed } from '../../../platform/http/server/errors.js';
import type { Fault } from '../../../platform/http/server/faults.js';

/** Time limit, in milliseconds, for opening the first graph on inputs. Rollouts report the rest. */
const patienceMs = 1_000;

/** Inputs that are invalid, or fail in the first graph before a model call; at most `listed`. */
export function inputFaults({ tasks }: TaskedDataset, graph: Graph | null): Fault[] {
  const deadline = performance.now() + patienceMs;
  const faults: Fault[] = [];
  for (const [index, task] of tasks.entries()) {
    const input = taskInput(task.input) as Json;
    const isOpened = graph !== null && performance.now() < deadline;
    const message = sizeProblem(input) ?? (isOpened ? openProblem(graph, input) : null);
    if (message !== null) faults.push({ path: ['dataset', 'tasks', index, 'input'], message });
    if (faults.length === listed) break;
  }
  return faults;
}

function openProblem(graph: Graph, input: Json): string | null {
  const outcome = outcomeOf(openRun(graph, input));
  if (outcome.status !== 'failed') return null;
  const { step, reason } = outcome;
  return `fails in the first graph before a model call: ${step === null ? '' : `step ${step}: `}${reason}`;
}
