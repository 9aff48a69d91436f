// The package @anthropic-ai/sdk.
import Anthropic from '@anthropic-ai/sdk';

const object = (properties) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
const tools = [{ name: 'look', input_schema: object({ city: { type: 'string' } }) }];
const schema = object({ name: { type: 'string' }, age: { type: 'number' } });
const output_config = { format: { type: 'json_schema', schema } };

export class Caller {
  constructor({ url, key, model }) {
    // The client adds /v1 itself.
    const baseURL = url.replace(/\/v1$/, '');
    this.messages = new Anthropic({ baseURL, apiKey: key, timeout: 60_000 }).messages;
    this.model = model;
  }

  asking(content, more) {
    return { model: this.model, max_tokens: 100, messages: [{ role: 'user', content }], ...more };
  }

  create(content, more) {
    return this.messages.create(this.asking(content, more));
  }

  final(content, more) {
    return this.messages.stream(this.asking(content, more)).finalMessage();
  }

  async chat(question) {
    return counted(await this.create(question));
  }

  async stream(question) {
    return { text: textOf(await this.final(question)) };
  }

  async stream_usage(question) {
    return counted(await this.final(question));
  }

  async tools(question) {
    return called(await this.create(question, { tools }));
  }

  async tools_stream(question) {
    return called(await this.final(question, { tools }));
  }

  async schema(question) {
    return { object: JSON.parse(textOf(await this.create(question, { output_config }))) };
  }

  async schema_stream(question) {
    return { object: JSON.parse(textOf(await this.final(question, { output_config }))) };
  }

  async image(question) {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };
    const content = [
      { type: 'text', text: question },
      { type: 'image', source },
    ];
    return { text: textOf(await this.create(content)) };
  }

  async abort(question) {
    for await (const event of await this.create(question, { stream: true })) {
      // The end of the loop aborts the request.
      if (event.type === 'content_block_delta') return { text: event.delta.text };
    }
    return null;
  }
}

function textOf({ content: [block] }) {
  return block.text;
}

function counted(message) {
  return { text: textOf(message), tokens: message.usage.input_tokens + message.usage.output_tokens };
}

function called({ content }) {
  return { calls: content.filter(({ type }) => type === 'tool_use').map(({ name, input }) => [name, input]) };
}
