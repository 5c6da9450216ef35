#include "mechanician/cli/completion.hpp"

#include "mechanician/cli/loading.hpp"

namespace mechanician {

namespace {

constexpr const char* bash = R"(_mechanician() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} previous=${COMP_WORDS[COMP_CWORD-1]}
  local common="--set --position --velocity --time --from --at --base --json --help"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "check accelerate equations expand import project run sweep bench linearise equilibrium export plot completion help --help --version" -- "$word"))
  elif [ "$command" = help ]; then
    COMPREPLY=($(compgen -W "check accelerate equations expand import project run sweep bench linearise equilibrium export plot completion" -- "$word"))
  elif [ "$previous" = --form ]; then
    COMPREPLY=($(compgen -W "auto F1 F2 F3 F4 F5" -- "$word"))
  elif [ "$previous" = --method ]; then
    COMPREPLY=($(compgen -W "auto dop853 bdf rk4" -- "$word"))
  elif [ "$previous" = --resume ]; then
    COMPREPLY=($(compgen -f -X '!*.h5*' -- "$word") $(compgen -d -- "$word"))
  elif [ "$previous" = --log ]; then
    COMPREPLY=($(compgen -W "x y xy" -- "$word"))
  elif [ "$previous" = --style ]; then
    COMPREPLY=($(compgen -W "lines points both" -- "$word"))
  elif [ "$command" = plot ] && [ "$previous" = --show ]; then
    COMPREPLY=($(compgen -W "positions velocities accelerations forces multipliers outputs residuals works energies" -- "$word"))
  elif [ "$command" = completion ]; then
    COMPREPLY=($(compgen -W "bash zsh fish" -- "$word"))
  elif [ "${word#-}" != "$word" ]; then
    case $command in
      accelerate) common="$common --form --parts --explain" ;;
      equations) common="$common --latex --latex-document --python" ;;
      bench) common="$common --listing" ;;
      export) common="$common -o --fmi" ;;
      linearise) common="$common --at --inputs --outputs --states --every --to --period --modes --tolerance --method --project-start --report -o" ;;
      equilibrium) common="$common --starts --seed --vary -o" ;;
      sweep) common="$common --vary --samples --count --seed --sampling --as-given --keep -o --to --method --step --tolerance --scale --device --threads --resume --quiet" ;;
      run) common="$common -o --columns --to --every --tolerance --method --scale --report --project-start --verify --resume --quiet" ;;
    esac
    [ "$command" = plot ] && common="-o --show --against --from --to --equal --log --style --straight --title --x-label --y-label --size --no-color --help"
    COMPREPLY=($(compgen -W "$common" -- "$word"))
  elif [ "$command" = plot ]; then
    COMPREPLY=($(compgen -f -X '!*.@(csv|json|h5|svg|png|pdf)' -- "$word") $(compgen -d -- "$word"))
  else
    COMPREPLY=($(compgen -f -X '!*.toml' -- "$word") $(compgen -d -- "$word"))
  fi
}
complete -o filenames -F _mechanician mechanician
)";

constexpr const char* zsh_prefix = "autoload -U +X bashcompinit && bashcompinit\n";

constexpr const char* fish =
    R"(complete -c mechanician -n __fish_use_subcommand -f -a "check accelerate equations expand import project run sweep bench linearise equilibrium export plot completion help"
complete -c mechanician -n __fish_use_subcommand -l help -l version
for command in check accelerate equations expand import project run sweep bench linearise equilibrium export
  complete -c mechanician -n "__fish_seen_subcommand_from $command" -l set -l position -l velocity -l time -l at -l base -x
  complete -c mechanician -n "__fish_seen_subcommand_from $command" -l from -r -F
  complete -c mechanician -n "__fish_seen_subcommand_from $command" -l json -l help
end
complete -c mechanician -n "__fish_seen_subcommand_from accelerate" -l form -x -a "auto F1 F2 F3 F4 F5"
complete -c mechanician -n "__fish_seen_subcommand_from accelerate" -l parts -l explain
complete -c mechanician -n "__fish_seen_subcommand_from equations" -l latex
complete -c mechanician -n "__fish_seen_subcommand_from equations" -l latex-document
complete -c mechanician -n "__fish_seen_subcommand_from equations" -l python
complete -c mechanician -n "__fish_seen_subcommand_from bench" -l listing
complete -c mechanician -n "__fish_seen_subcommand_from sweep" -s o -l resume -l samples -r -F
complete -c mechanician -n "__fish_seen_subcommand_from sweep" -l vary -l count -l seed -l sampling -l keep -l to -l method -l step -l tolerance -l scale -l device -l threads -x
complete -c mechanician -n "__fish_seen_subcommand_from sweep" -l as-given -l quiet
complete -c mechanician -n "__fish_seen_subcommand_from run" -s o -l resume -l report -r -F
complete -c mechanician -n "__fish_seen_subcommand_from run" -l to -l every -l tolerance -l scale -x
complete -c mechanician -n "__fish_seen_subcommand_from run" -l method -x -a "auto dop853 bdf"
complete -c mechanician -n "__fish_seen_subcommand_from run" -l columns -l project-start -l verify -l quiet
complete -c mechanician -n "__fish_seen_subcommand_from linearise equilibrium" -s o -l report -r -F
complete -c mechanician -n "__fish_seen_subcommand_from linearise" -l at -l inputs -l outputs -l states -l every -l to -l period -l modes -l tolerance -x
complete -c mechanician -n "__fish_seen_subcommand_from linearise" -l method -x -a "auto dop853 bdf"
complete -c mechanician -n "__fish_seen_subcommand_from linearise" -l project-start
complete -c mechanician -n "__fish_seen_subcommand_from equilibrium" -l starts -l seed -l vary -x
complete -c mechanician -n "__fish_seen_subcommand_from plot" -s o -r -F
complete -c mechanician -n "__fish_seen_subcommand_from plot" -l show -x -a "positions velocities accelerations forces multipliers outputs residuals works energies"
complete -c mechanician -n "__fish_seen_subcommand_from plot" -l against -l from -l to -l title -l x-label -l y-label -l size -x
complete -c mechanician -n "__fish_seen_subcommand_from plot" -l log -x -a "x y xy"
complete -c mechanician -n "__fish_seen_subcommand_from plot" -l style -x -a "lines points both"
complete -c mechanician -n "__fish_seen_subcommand_from plot" -l equal -l straight -l no-color -l help
complete -c mechanician -n "__fish_seen_subcommand_from completion" -f -a "bash zsh fish"
)";

}  // namespace

Exit print_completion(const std::string& shell) {
  write_out(shell == "fish" ? fish : shell == "zsh" ? std::string(zsh_prefix) + bash : bash);
  return Exit::done;
}

}  // namespace mechanician
