/**
 * What the service itself asks a model, as data. Providers get it as messages; `local`, which reads
 * no prose, answers from the data.
 */
import type { Graph } from './graphs/graph.js';
import { buildEditProposal, type EditProposal } from './graphs/edits/proposal.js';
import type { Message } from './prompts/message.js';
import { buildDescription, buildReflection, type DescriptionRequest, type Reflection } from './proposals/reflection.js';
import { buildJudgePrompt, type JudgementRequest } from './verify/judge.js';

export type Question =
  | { kind: 'text'; reflection: Reflection }
  | { kind: 'edits'; graph: Graph; proposal: EditProposal }
  | { kind: 'description'; request: DescriptionRequest }
  | { kind: 'judgement'; request: JudgementRequest };

export function messagesOf(question: Question): Message[] {
  switch (question.kind) {
    case 'text':
      return buildReflection(question.reflection);
    case 'edits':
      return buildEditProposal(question.proposal);
    case 'description':
      return buildDescription(question.request);
    case 'judgement':
      return buildJudgePrompt(question.request);
  }
}
