import type { NameView } from '../contract/models.ts';
import { CONFIG_FILE } from '../settings/config-text.ts';
import type { RouteDeps } from './deps.ts';

/** Returns the aliases and presets of config.toml that have no effect or lead nowhere. */
const nameProblems = (names: readonly NameView[]) =>
  names.flatMap(({ kind, name, problem }) =>
    problem === null
      ? []
      : [{ file: CONFIG_FILE, line: null, message: `${kind} ${JSON.stringify(name)} ${problem}` }],
  );

/**
 * Returns the problems of settings, the configured model, slot files, upstream files and companion.env, with
 * file and line.
 */
export const allProblems = ({
  settings,
  registry,
  slots,
  upstreams,
  companion,
  inference,
}: Pick<RouteDeps, 'settings' | 'registry' | 'slots' | 'upstreams' | 'companion' | 'inference'>) => [
  ...settings.problems(),
  ...registry.settingProblems(),
  ...slots.problems(),
  ...upstreams.problems(),
  ...nameProblems(inference.names()),
  ...(companion.last().plan?.problems ?? []),
];
