import { count, dollars, milliseconds, words } from '../../util/format.js';
import { Copy } from '../copy.js';
import { Fold } from '../fold.js';
import { LongText } from '../long-text.js';
import type { Call } from './types.js';
import { MessageView } from './message.js';
import { answerOf, jsonOf, messagesOf, settingsOf } from './messages.js';

/** A model call: its figures in a line, its messages and its answer below. */
export function CallView({ call, index, isOpen }: { call: Call; index: number; isOpen: boolean }) {
  return (
    <Fold class="call" isOpen={isOpen} summary={<CallLine call={call} index={index} />}>
      {() => <CallBody call={call} />}
    </Fold>
  );
}

function CallLine({ call, index }: { call: Call; index: number }) {
  const hasFailed = call.http_status >= 400;
  const tokens = [call.prompt_tokens, call.completion_tokens].map(count).join(' + ');
  return (
    <span class="call-line">
      <strong>
        {index + 1}. {call.step === null ? 'judge' : (call.step ?? `${call.provider}/${call.model}`)}
      </strong>
      {call.step !== undefined && <span class="quiet">{`${call.provider}/${call.model}`}</span>}
      <span class={hasFailed ? 'bad' : 'quiet'}>HTTP {call.http_status}</span>
      <span class="quiet" title="Tokens of the prompt and of the answer">
        {tokens} tokens
      </span>
      <span class="quiet" title={`Source of the cost: ${words(call.cost_source)}`}>
        {dollars(call.cost_usd)}
      </span>
      <span class="quiet">{milliseconds(call.latency_ms)}</span>
      {call.cached_from && (
        <span class="badge" title={`The answer of ${call.cached_from} was used again`}>
          cached
        </span>
      )}
      {call.stream && <span class="badge">stream</span>}
    </span>
  );
}

function CallBody({ call }: { call: Call }) {
  const messages = messagesOf(call.request);
  const { messages: answers, finishReasons, error } = answerOf(call.response);
  const settings = settingsOf(call.request);
  const isOdd = messages.length === 0 || (answers.length === 0 && error === null && call.response !== null);
  return (
    <>
      <ol class="turns" aria-label="Messages">
        {messages.map((message, n) => (
          <MessageView key={n} message={message} />
        ))}
        {answers.map((message, n) => (
          <MessageView key={`answer ${n}`} message={message} isAnswer />
        ))}
      </ol>
      {error !== null && <p class="problem">{error}</p>}
      {call.response === null && <p class="quiet">The model did not answer.</p>}
      <p class="quiet call-ids">
        <code>{call.call_id}</code>
        {call.cached_from && (
          <>
            , the answer of <code>{call.cached_from}</code>
          </>
        )}
        {finishReasons.length > 0 && `, finish reason ${finishReasons.join(', ')}`}
      </p>
      {Object.keys(settings).length > 0 && (
        <Fold summary="Settings of the request">{() => <LongText text={jsonOf(settings)} />}</Fold>
      )}
      <Fold summary="Request and answer as JSON" isOpen={isOdd}>
        {() => <Json value={{ request: call.request, response: call.response }} />}
      </Fold>
    </>
  );
}

/** A value as JSON, with a button that copies it. */
export function Json({ value }: { value: unknown }) {
  const text = jsonOf(value);
  return (
    <>
      <Copy text={text} label="Copy JSON" />
      <LongText text={text} limit={6_000} />
    </>
  );
}
