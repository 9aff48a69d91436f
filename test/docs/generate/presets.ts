import { keyHeaderOf, presets } from '../../../src/models/client/addresses/presets.js';
import { keySetting, urlSetting } from '../../../src/models/client/addresses/configured.js';
import { table } from './table.js';

/** The built-in providers: name, address, and the variables of an account. */
export function presetTable(): string {
  const rows = Object.entries(presets).map(([name, { title, baseUrl, form, needsKey, vendorKey }]) => {
    const header = keyHeaderOf(name, baseUrl ?? form!.replaceAll(/<\w+>/g, 'x'));
    const other = vendorKey ? ` or \`${vendorKey}\`` : '';
    const key = `\`${keySetting(name)}\`${other}${needsKey ? '' : ', optional'}${header === 'api-key' ? ', sent as `api-key`' : ''}`;
    return [`\`${name}\``, title, baseUrl === null ? `\`${urlSetting(name)}\`: \`${form}\`` : `\`${baseUrl}\``, key];
  });
  return table(['provider', 'vendor', 'address', 'key'], rows);
}
