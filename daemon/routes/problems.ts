import type { RouteDeps } from './deps.ts';

/** What is wrong with settings, the model that they name, slot files, upstream files and companion.env, each with file and line. */
export const allProblems = ({
  settings,
  registry,
  slots,
  upstreams,
  companion,
}: Pick<RouteDeps, 'settings' | 'registry' | 'slots' | 'upstreams' | 'companion'>) => [
  ...settings.problems(),
  ...registry.settingProblems(),
  ...slots.problems(),
  ...upstreams.problems(),
  ...(companion.last().plan?.problems ?? []),
];
