import type Docker from 'dockerode';
import { GatewayError } from '../../src/errors.ts';

/**
 * The options of `docker run` that `terminal.docker_extra_args` may hold, mapped onto the engine's API. Others are
 * refused by name: an option that is dropped in silence may be the one that a person relies on.
 */
type HostConfigOf = (value: string, config: Docker.HostConfig) => Docker.HostConfig;

const known: Readonly<Record<string, HostConfigOf>> = {
  '--add-host': (value, { ExtraHosts = [] }) => ({ ExtraHosts: [...asList(ExtraHosts), value] }),
  '--dns': (value, { Dns = [] }) => ({ Dns: [...Dns, value] }),
  '--cap-add': (value, { CapAdd }) => ({ CapAdd: [...asList(CapAdd ?? baseCapabilities), value] }),
  '--device': (value, { Devices = [] }) => ({
    Devices: [...Devices, { PathOnHost: value, PathInContainer: value, CgroupPermissions: 'rwm' }],
  }),
  '--gpus': (value) => ({
    DeviceRequests: [{ Count: value === 'all' ? -1 : Number(value), Capabilities: [['gpu']] }],
  }),
  '--network': (value) => ({ NetworkMode: value }),
  '--runtime': (value) => ({ Runtime: value }),
  '--pids-limit': (value) => ({ PidsLimit: Number(value) }),
  '--shm-size': (value) => ({ ShmSize: bytes(value) }),
};

const baseCapabilities = ['DAC_OVERRIDE', 'CHOWN', 'FOWNER'];
const asList = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);

export function extraHostConfig(args: readonly string[]): Docker.HostConfig {
  let config: Docker.HostConfig = {};
  for (let index = 0; index < args.length; index += 1) {
    const [flag = '', inline] = (args[index] ?? '').split(/=(.*)/s);
    const apply = known[flag];
    if (apply === undefined) throw unknownArgument(flag);
    const value = inline ?? args[++index] ?? '';
    config = { ...config, ...apply(value, config) };
  }
  return config;
}

const factors: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

function bytes(text: string): number {
  const match = /^(\d+)([bkmg]?)$/i.exec(text);
  return Number(match?.[1] ?? 0) * (factors[(match?.[2] || 'b').toLowerCase()] ?? 1);
}

function unknownArgument(flag: string): GatewayError {
  return new GatewayError(
    'environment_refused',
    `terminal.docker_extra_args holds ${flag}, which is not supported.`,
    {
      mend: `Supported are ${Object.keys(known).join(', ')}.`,
    },
  );
}
