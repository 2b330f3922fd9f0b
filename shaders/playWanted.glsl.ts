import {
  CLOCK_EPOCH,
  LOOP_CLAMP,
  LOOP_FIRST,
  LOOP_MODES,
  PLAY_IN_STEP,
  PLAY_ONCE,
  REPEAT_FOREVER,
} from '../lib/constants.js';
import { ACTION_TEXELS, MAX_ACTIONS } from '../lib/playback/instanceLayout.js';

/** The golden ratio less 1: its multiples lie as evenly between whole numbers as any. */
const GOLDEN = 0.6180339887498949;

/** A loop over what plays, by its first texel and what that holds. */
const eachActionGLSL = (body: string): string => /* glsl */ `
for ( int i = 0; i < ${MAX_ACTIONS}; i ++ ) {

  int place = actionAt( first, i );
  vec4 clip = actions[ place ];
  if ( clip.x < 0.5 ) break;
  ${body}

}
`;

/**
 * Starts the clip that an instance shall play, if it is another one than before, as `LayerActions.start` does, and has it go on at the
 * speed that it shall. `first` is the instance's first texel among `actions`, which are those of `ActionTexels`. `plays` has what each
 * instance shall play: clip, seconds of fade, speed; `told` what it was last told to: clip and speed; `clips` has the first frame, the
 * frames, and frames a second of each. Needs `frameAtGLSL`.
 */
export const playWantedGLSL = /*@__PURE__*/ (() => /* glsl */ `
int actionAt( int first, int place ) {

  return first + 1 + place * ${ACTION_TEXELS};

}

// Frames into the clip: what loops is never more than its length.
float framesInto( vec4 clip, vec4 timing, float time ) {

  float intervals = max( floor( clip.y * ${1 / LOOP_MODES} ) - 1.0, 1.0 );
  float total = clip.z + timing.x * time;
  return timing.y < ${REPEAT_FOREVER}.0 ? min( total, intervals ) : total - floor( total / intervals ) * intervals;

}

void playWanted( int instance, int first ) {

  float now = CROWD_CLOCK;
  vec4 wanted = plays[ instance ];
  vec4 last = told[ instance ];
  vec4 header = actions[ first ];
  float age = CROWD_EPOCH - header.w;
  float speed = max( wanted.z, 0.0 );

  // Times count from the beginning of an epoch.
  if ( age != 0.0 ) {

    float seconds = age * ${CLOCK_EPOCH}.0;
    ${eachActionGLSL(/* glsl */ `
      vec4 ramp = actions[ place + 2 ];
      actions[ place ] = vec4( clip.xy, framesInto( clip, actions[ place + 1 ], seconds ), clip.w );
      actions[ place + 2 ] = vec4( ramp.xy, ramp.z - seconds, ramp.w );
    `)}
    header = vec4( header.x - seconds, header.yz, CROWD_EPOCH );
    actions[ first ] = header;

  }

  bool isOther = wanted.x != last.x;
  if ( isOther || speed != last.y ) {

    uint code = uint( wanted.x );
    int clipNumber = int( code & ${PLAY_ONCE - 1}u ) - 1;
    actions[ first ] = vec4( now, header.yzw );
    told[ instance ] = vec4( wanted.x, speed, 0.0, 0.0 );

    // The clip that was started last, which is the last one.
    int current = - 1;
    vec4 clipNow = vec4( 0.0 );
    vec4 timingNow = vec4( 0.0 );
    ${eachActionGLSL(/* glsl */ `
      current = place;
      clipNow = clip;
      timingNow = actions[ place + 1 ];
    `)}
    float total = framesInto( clipNow, timingNow, now );

    if ( ! isOther ) {

      if ( current >= 0 && wanted.x > 0.0 ) {

        float rate = speed * clips[ clipNumber ].z;
        actions[ current ] = vec4( clipNow.xy, total - rate * now, 0.0 );
        actions[ current + 1 ] = vec4( rate, timingNow.y, 0.0, 0.0 );

      }

    } else {

      // All that plays fades out together, each from the weight that it has.
      float fade = max( wanted.y, 0.0 );
      int kept = 0;
      float sum = 0.0;
      int least = 0;
      float leastWeight = 2.0;
      if ( fade > 0.0 ) {

        ${eachActionGLSL(/* glsl */ `
          float weight = rampAt( now, actions[ place + 2 ] );
          if ( weight > 0.0 ) {

            int to = actionAt( first, kept );
            vec4 timing = actions[ place + 1 ];
            actions[ to ] = clip;
            actions[ to + 1 ] = timing;
            actions[ to + 2 ] = vec4( weight, 0.0, now, 1.0 / fade );
            sum += weight;
            if ( weight <= leastWeight ) {

              least = kept;
              leastWeight = weight;

            }
            kept ++;

          }
        `)}

      }

      if ( clipNumber >= 0 ) {

        // The one that shows least makes way, and what it showed goes to the others.
        if ( kept == ${MAX_ACTIONS} ) {

          float factor = sum / ( sum - leastWeight );
          kept = 0;
          ${eachActionGLSL(/* glsl */ `
            if ( i != least ) {

              int to = actionAt( first, kept );
              vec4 timing = actions[ place + 1 ];
              vec4 ramp = actions[ place + 2 ];
              actions[ to ] = clip;
              actions[ to + 1 ] = timing;
              actions[ to + 2 ] = vec4( min( ramp.x * factor, 1.0 ), ramp.yzw );
              kept ++;

            }
          `)}

        }

        vec4 chosen = clips[ clipNumber ];
        float rate = speed * chosen.z;
        bool isOnce = ( code & ${PLAY_ONCE}u ) != 0u;
        float start = 0.0;
        if ( ( code & ${PLAY_IN_STEP}u ) != 0u ) {

          // In step with what plays; else by the instance's number, so that no two are in step.
          float share = fract( float( instance ) * ${GOLDEN} );
          if ( current >= 0 ) share = total / max( floor( clipNow.y * ${1 / LOOP_MODES} ) - 1.0, 1.0 );
          start = share * ( chosen.y - 1.0 );

        }

        int to = actionAt( first, kept );
        float loop = isOnce ? ${LOOP_CLAMP + LOOP_FIRST}.0 : ${LOOP_FIRST}.0;
        actions[ to ] = vec4( chosen.x, chosen.y * ${LOOP_MODES}.0 + loop, start - rate * now, 0.0 );
        actions[ to + 1 ] = vec4( rate, isOnce ? 1.0 : ${REPEAT_FOREVER}.0, 0.0, 0.0 );
        actions[ to + 2 ] = fade > 0.0 ? vec4( 0.0, 1.0, now, 1.0 / fade ) : vec4( 1.0, 1.0, now, 0.0 );
        kept ++;

      }

      if ( kept < ${MAX_ACTIONS} ) actions[ actionAt( first, kept ) ] = vec4( 0.0 );

    }

  }

}
`)();
