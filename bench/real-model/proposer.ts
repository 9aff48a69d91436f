/**
 * The proposer of every optimizer: the product's `local` provider, asked with what our reflections
 * and gepa's say. MIPROv2 asks in fields of its own; its demonstrations count as examples of right
 * answers.
 */
import { completeLocally } from '../../src/local-model/index.js';
import { parseProposal } from '../../src/core/proposals/reflection.js';
import { chatField, reply, type ChatMessage } from '../worlds/task-texts.js';
import { readReflection } from './read-reflection.js';

const maxChars = 8_000;

export function propose(model: string, messages: readonly ChatMessage[]) {
  const reflection = readReflection(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  const answer = completeLocally({ model, messages }, reflection && { kind: 'text', reflection });
  const [choice] = answer.choices;
  const content = reply(messages, (field) => {
    if (field === null) return choice.message.content;
    return field === 'proposed_instruction' ? instructionFor(model, messages) : 'Messages of customers, with labels.';
  });
  return { ...answer, choices: [{ ...choice, message: { ...choice.message, content } }] };
}

function instructionFor(model: string, messages: readonly ChatMessage[]): string {
  const instruction = chatField(messages, 'basic_instruction');
  const shown = [...chatField(messages, 'task_demos').matchAll(/^Message: (.*)\n+Answer: (.*)$/gim)];
  const examples = shown.map(([, input = '', expected = '']) => ({
    input,
    output: '',
    feedback: `Expected \`${expected}\`.`,
    reward: 0,
  }));
  if (examples.length === 0) return instruction;
  const answered = completeLocally({ model, messages }, { kind: 'text', reflection: { instruction, examples } });
  const answer = answered.choices[0].message.content;
  const parsed = parseProposal(answer, { parent: instruction, maxChars, finishReason: 'stop' });
  return parsed.ok ? parsed.text : instruction;
}
