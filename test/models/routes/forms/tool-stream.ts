import type { ModelReply } from '../../../support/fakes/model.js';

interface Call {
  id: string;
  name: string;
  arguments: string;
}

/** Tool calls of the fake model, whole or streamed in pieces. */
export function calling(calls: readonly Call[], stream: boolean): ModelReply {
  const head = { id: 'chatcmpl-tools', created: 1_700_000_000, model: 'm' };
  const usage = { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12 };
  const whole = calls.map(({ id, ...fn }) => ({ id, type: 'function', function: fn }));
  if (!stream) {
    const message = { role: 'assistant', content: null, tool_calls: whole };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    return { raw: JSON.stringify({ ...head, object: 'chat.completion', choices, usage }) };
  }
  const chunk = (choices: object[], more: object = {}) =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`;
  const delta = (fields: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: fields, finish_reason: finish }]);
  const pieces = whole.flatMap(({ function: { name, arguments: text }, ...call }, index) => [
    delta({ tool_calls: [{ index, ...call, function: { name, arguments: '' } }] }),
    ...text.match(/.{1,5}/gs)!.map((part) => delta({ tool_calls: [{ index, function: { arguments: part } }] })),
  ]);
  const events = [...pieces, delta({}, 'tool_calls'), chunk([], { usage }), 'data: [DONE]\n\n'];
  return { raw: events.join(''), headers: { 'content-type': 'text/event-stream' } };
}
