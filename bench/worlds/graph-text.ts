/**
 * Reads graph.txt, for proposers and for running a job's result. Supports llm steps and majority
 * votes, which are all that these worlds' proposer writes.
 */
import type { Graph, LlmStep, Step } from '../../src/core/graphs/graph.js';

/** The inverse of `graphText`. Throws on unsupported parts. */
export function readGraphText(text: string): Graph {
  const [head = '', ...blocks] = text.trim().split(/\n\n(?=step )/);
  const [, inputs, output] = /^inputs: (.*)\noutput: (\S+)$/.exec(head) ?? unknown(head);
  return { inputs: inputs!.split(', '), steps: blocks.map(readStep), output: output! };
}

function readStep(block: string): Step {
  const [first = '', ...lines] = block.split('\n').map((line) => line.replace(/^ {2}/, ''));
  const [, id, type] = /^step (\w+): (llm|vote)$/.exec(first) ?? unknown(first);
  if (type === 'vote') {
    const [, over] = /^over: (\w+)\nby: majority$/.exec(lines.join('\n')) ?? unknown(block);
    return { id: id!, type, over: over!, by: 'majority' };
  }
  const inputs: Record<string, string> = {};
  const messages: { role: 'system' | 'user' | 'assistant'; content: string[] }[] = [];
  let samples: number | undefined;
  let field = '';
  for (const line of lines) {
    const [, name, ref] = /^input (\w+) = (\S+)$/.exec(line) ?? [];
    const [, role] = /^message, (system|user|assistant)$/.exec(line) ?? [];
    if (name !== undefined) inputs[name] = ref!;
    else if (role !== undefined) messages.push({ role: role as 'system', content: [] });
    else if (line.startsWith('> ') || line === '>') messages.at(-1)!.content.push(line.slice(2));
    else if (line.startsWith('samples: ')) samples = Number(line.slice('samples: '.length));
    else [, field = ''] = /^gives: field (\w+)$/.exec(line) ?? unknown(line);
  }
  const step: LlmStep = {
    id: id!,
    type: 'llm',
    inputs,
    messages: messages.map(({ role, content }) => ({ role, content: content.join('\n') })),
    output: { field },
    ...(samples !== undefined && { samples }),
  };
  return step;
}

function unknown(text: string): never {
  throw new Error(`graph.txt has what is not known here: ${text}`);
}
