import { count } from '../../util/format.js';
import { Fold } from '../fold.js';
import { LongText } from '../long-text.js';
import { prettyJson, type Message, type Part } from './messages.js';

/** A message of a conversation; tool calls, tool results and media begin folded. */
export function MessageView({ message, isAnswer = false }: { message: Message; isAnswer?: boolean }) {
  const { role, name, parts } = message;
  const isResult = role === 'tool' || role === 'function';
  return (
    <li class={isAnswer ? 'turn turn-answer' : 'turn'}>
      <div class="turn-role">
        {isAnswer ? 'answer' : role}
        {name && !isResult && <span class="quiet"> {name}</span>}
      </div>
      <div class="turn-parts">
        {parts.length === 0 && <span class="quiet">empty</span>}
        {isResult ? <ToolResult name={name} parts={parts} /> : parts.map((part, n) => <PartView key={n} part={part} />)}
      </div>
    </li>
  );
}

function ToolResult({ name, parts }: { name: string | null; parts: Part[] }) {
  const text = parts.map((part) => part.text).join('\n');
  return (
    <Fold summary={<Summary kind="Tool result" name={name} text={text} />}>
      {() => <LongText text={prettyJson(text)} />}
    </Fold>
  );
}

const kinds = { tool_call: 'Tool call', media: 'Attached', refusal: 'Refusal', reasoning: 'Reasoning' };

function PartView({ part }: { part: Part }) {
  if (part.kind === 'text') return <LongText text={part.text} />;
  return (
    <Fold
      isOpen={part.kind === 'refusal'}
      summary={<Summary kind={kinds[part.kind]} name={'name' in part ? part.name : null} text={part.text} />}
    >
      {() => <LongText text={part.text} />}
    </Fold>
  );
}

function Summary({ kind, name, text }: { kind: string; name: string | null; text: string }) {
  return (
    <>
      {kind} {name && <code>{name}</code>} <span class="quiet">{count(text.length)} characters</span>
    </>
  );
}
