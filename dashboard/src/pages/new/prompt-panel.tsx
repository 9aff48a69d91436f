import { useId, useRef } from 'preact/hooks';
import { Panel } from '../../ui/basics.js';
import { isUnwritten, tellsAnswer, unknownPlaceholders, type PromptMessage } from './form/draft.js';
import { original, replace } from './form/original.js';
import { change, draft } from './form/store.js';

const roles = ['system', 'user', 'assistant'] as const;

/** The messages of the prompt. `columns`: undefined until the data are known. */
export function PromptPanel(props: {
  columns: string[] | undefined;
  error: string | undefined;
  /** The prompt that the columns suggest; undefined: none. */
  drafted: PromptMessage[] | undefined;
}) {
  const { columns, error, drafted } = props;
  const { messages, kind, expected, input } = draft.value;
  const unknown = columns ? unknownPlaceholders(draft.value, columns) : [];
  const set = (at: number, changes: Partial<PromptMessage>) =>
    change({ messages: messages.map((message, n) => (n === at ? { ...message, ...changes } : message)) });
  return (
    <Panel
      title="2. Prompt"
      aside={
        <div class="actions">
          {drafted && !isUnwritten(draft.value) && (
            <button
              type="button"
              class="button button-small"
              onClick={() =>
                replace({ ...draft.value, messages: drafted, drafted: JSON.stringify(drafted) }, original.value)
              }
            >
              Draft it from the columns
            </button>
          )}
          <button
            type="button"
            class="button button-small"
            disabled={messages.length >= 20}
            onClick={() => change({ messages: [...messages, { role: 'user', content: '' }] })}
          >
            Add a message
          </button>
        </div>
      }
    >
      <p class="quiet">
        {kind === 'evaluation' ? '' : 'The search rewrites this text. '}
        {columns && '{{column}} stands for a value of the row; without any, the input follows as a message of its own.'}
      </p>
      {messages.map((message, at) => (
        <MessageField
          key={at}
          {...{ message, at, columns: (columns ?? []).filter((name) => name !== expected || name === input) }}
          error={tellsAnswer(message.content, draft.value) ? answerTold(expected) : undefined}
          onChange={(changes) => set(at, changes)}
          onRemove={messages.length > 1 ? () => change({ messages: messages.filter((_, n) => n !== at) }) : null}
        />
      ))}
      {unknown.length > 0 && (
        <p class="note" role="alert">
          {unknown.map((name) => `{{${name}}}`).join(', ')} {unknown.length === 1 ? 'is' : 'are'} no column of the data:
          such braces are sent as they are.
        </p>
      )}
      {error && (
        <p class="problem" role="alert">
          {error}
        </p>
      )}
    </Panel>
  );
}

const answerTold = (expected: string) =>
  `{{${expected}}} is the column of right answers: the model would read each answer. Remove it here, or choose another expected column.`;

function MessageField(props: {
  message: PromptMessage;
  error: string | undefined;
  at: number;
  columns: string[];
  onChange: (changes: Partial<PromptMessage>) => void;
  onRemove: (() => void) | null;
}) {
  const { message, at, columns, error, onChange, onRemove } = props;
  const errorId = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const insert = (column: string) => {
    const { selectionStart, selectionEnd, value } = area.current!;
    onChange({ content: `${value.slice(0, selectionStart)}{{${column}}}${value.slice(selectionEnd)}` });
    area.current!.focus();
  };
  return (
    <div class="message-field">
      <div class="bar">
        <select
          aria-label={`Role of message ${at + 1}`}
          value={message.role}
          onChange={(event) => onChange({ role: event.currentTarget.value as PromptMessage['role'] })}
        >
          {roles.map((role) => (
            <option key={role}>{role}</option>
          ))}
        </select>
        {columns.slice(0, 8).map((column) => (
          <button
            key={column}
            type="button"
            class="button button-small mono"
            aria-label={`Insert {{${column}}} into message ${at + 1}`}
            onClick={() => insert(column)}
          >
            {`{{${column}}}`}
          </button>
        ))}
        {onRemove && (
          <button type="button" class="button button-small" aria-label={`Remove message ${at + 1}`} onClick={onRemove}>
            Remove
          </button>
        )}
      </div>
      <textarea
        ref={area}
        dir="auto"
        rows={Math.min(16, Math.max(4, message.content.split('\n').length + 1))}
        aria-label={`Text of message ${at + 1}`}
        {...(error && { 'aria-invalid': true, 'aria-describedby': errorId })}
        value={message.content}
        onInput={(event) => onChange({ content: event.currentTarget.value })}
      />
      {error && (
        <span id={errorId} class="field-error" role="alert">
          {error}
        </span>
      )}
    </div>
  );
}
