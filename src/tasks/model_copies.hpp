// Models on shared weights, one per thread that works with them.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "fovea/model/config.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/nn/parameters.hpp"

namespace fovea {

/// A model belongs to one thread at a time: whoever needs one takes one that is idle, or builds another on the same
/// weights.
template <class Model>
class ModelCopies {
 public:
  /// `weights` must outlive this.
  ModelCopies(const ModelConfig& config, const Parameters& weights) : config_(config), weights_(weights) {}

 private:
  struct Copy {
    Parameters parameters;
    Model model;
    Copy(const ModelConfig& config, const Parameters& weights)
        : parameters(weights.replica()), model(config, parameters) {}
  };

 public:
  /// A model for as long as this lives.
  class Lease {
   public:
    explicit Lease(ModelCopies& copies) : copies_(copies) {
      {
        const std::lock_guard lock(copies_.mutex_);
        if (!copies_.idle_.empty()) {
          copy_ = std::move(copies_.idle_.back());
          copies_.idle_.pop_back();
        }
      }
      if (!copy_) copy_ = std::make_unique<Copy>(copies_.config_, copies_.weights_);
    }
    ~Lease() {
      const std::lock_guard lock(copies_.mutex_);
      copies_.idle_.push_back(std::move(copy_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] const Model& model() const { return copy_->model; }
    [[nodiscard]] const Parameters& parameters() const { return copy_->parameters; }  // this model's own

   private:
    ModelCopies& copies_;
    std::unique_ptr<Copy> copy_;
  };

 private:
  const ModelConfig config_;
  const Parameters& weights_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Copy>> idle_;
};

/// A model for inference: its weights, packed, and copies for the threads that work with it.
template <class Model>
struct PackedModel {
  const ModelConfig config;
  const Parameters parameters;
  ModelCopies<Model> copies;

  PackedModel(const ModelConfig& of, Parameters weights, const LoadOptions& how = {})
      : config(of), parameters(packed(of, std::move(weights), how)), copies(config, parameters) {}

 private:
  static Parameters packed(const ModelConfig& config, Parameters weights, const LoadOptions& how) {
    pack_weights(config, weights, how);
    return weights;
  }
};

}  // namespace fovea
