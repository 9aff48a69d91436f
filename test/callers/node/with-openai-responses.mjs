// The package openai, with its Responses API.
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { personSchema, pixel } from './with-openai.mjs';

const city = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const tools = [{ type: 'function', name: 'look', parameters: city, strict: true }];
const text = { format: zodTextFormat(personSchema, 'person') };

export class Caller {
  constructor({ url, key, model }) {
    this.responses = new OpenAI({ baseURL: url, apiKey: key, timeout: 60_000 }).responses;
    this.model = model;
  }

  create(input, more) {
    return this.responses.create({ model: this.model, input, ...more });
  }

  final(input, more) {
    return this.responses.stream({ model: this.model, input, ...more }).finalResponse();
  }

  async chat(question) {
    return counted(await this.create(question));
  }

  async stream(question) {
    return { text: (await this.final(question)).output_text };
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
    return { object: (await this.responses.parse({ model: this.model, input: question, text })).output_parsed };
  }

  async schema_stream(question) {
    return { object: (await this.final(question, { text })).output_parsed };
  }

  async image(question) {
    const content = [
      { type: 'input_text', text: question },
      { type: 'input_image', image_url: pixel, detail: 'auto' },
    ];
    return { text: (await this.create([{ role: 'user', content }])).output_text };
  }

  async abort(question) {
    for await (const event of await this.create(question, { stream: true })) {
      // The end of the loop aborts the request.
      if (event.type === 'response.output_text.delta') return { text: event.delta };
    }
    return null;
  }
}

function counted({ output_text: text, usage }) {
  return { text, tokens: usage.total_tokens };
}

function called({ output }) {
  const calls = output.filter(({ type }) => type === 'function_call');
  return { calls: calls.map(({ name, arguments: given }) => [name, JSON.parse(given)]) };
}
