/** The pages of the header. */
export const sections: { name: string; parts: string[] }[] = [
  { name: 'Runs', parts: [] },
  { name: 'Now', parts: ['now'] },
  { name: 'New run', parts: ['new'] },
  { name: 'Data sets', parts: ['datasets'] },
  { name: 'Deployments', parts: ['deployments'] },
  { name: 'Playground', parts: ['playground'] },
];
