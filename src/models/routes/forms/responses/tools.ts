import { given, listAt, nameOf, objectAt, textAt, type Path } from '../fields.js';
import { refusedAt, type Json } from '../form.js';

/** The fields of a chat completion about tools. Without tools none: providers refuse them then. */
export function toolsOf({ tools, tool_choice: choice, parallel_tool_calls: parallel }: Json): Json {
  const list = tools === undefined || tools === null ? [] : listAt(tools, ['tools']);
  const functions = list.map((tool, at) => functionOf(objectAt(tool, ['tools', at]), ['tools', at]));
  const chosen = choice === undefined || choice === null ? null : choiceOf(choice);
  if (functions.length === 0) return {};
  return given({ tools: functions, tool_choice: chosen, parallel_tool_calls: parallel });
}

function functionOf(tool: Json, path: Path): Json {
  const { type, name, description, parameters, strict } = tool;
  if (type !== 'function') {
    throw refusedAt(
      [...path, 'type'],
      `${nameOf(path)} has the type ${JSON.stringify(type ?? null)}, a tool that OpenAI runs or that only its models ` +
        'know; use a tool of the type "function".',
    );
  }
  const known = { name: textAt(name, [...path, 'name']), ...given({ description, parameters, strict }) };
  return { type: 'function', function: known };
}

function choiceOf(choice: unknown): unknown {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const { type, name, mode, tools } = objectAt(choice, ['tool_choice']);
  if (type === 'function') return { type, function: { name: textAt(name, ['tool_choice', 'name']) } };
  if (type === 'allowed_tools') {
    const path = ['tool_choice', 'tools'];
    const allowed = listAt(tools, path).map((tool, at) => {
      const { type: kind, name: of } = objectAt(tool, [...path, at]);
      if (kind !== 'function')
        throw refusedAt([...path, at, 'type'], `${nameOf([...path, at])}.type must be function.`);
      return { type: 'function', function: { name: textAt(of, [...path, at, 'name']) } };
    });
    return { type, allowed_tools: { mode, tools: allowed } };
  }
  throw refusedAt(['tool_choice'], 'tool_choice must be auto, none, required, or name a function or allowed_tools.');
}
