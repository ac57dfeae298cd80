import type { RouteDeps } from './deps.ts';

/** What is wrong with settings, slot files, upstream files and companion.env, each with file and line. */
export const allProblems = ({
  settings,
  slots,
  upstreams,
  companion,
}: Pick<RouteDeps, 'settings' | 'slots' | 'upstreams' | 'companion'>) => [
  ...settings.problems(),
  ...slots.problems(),
  ...upstreams.problems(),
  ...(companion.last().plan?.problems ?? []),
];
